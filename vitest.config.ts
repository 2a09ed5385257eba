import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: './test/support/global-set-up.ts',
    testTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});

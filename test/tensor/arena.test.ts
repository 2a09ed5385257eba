import { Arena, createMemory } from '@epsim/tensor';
import fc from 'fast-check';
import { expect, test } from 'vitest';

test('places never overlap, are aligned, and stay inside the arena', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 500 }), fc.constantFrom(1, 4, 16, 64)), { maxLength: 40 }),
      (wanted) => {
        const arena = new Arena(createMemory(65536, { shared: true }), 100, 60000);
        let last = 100;
        for (const [bytes, align] of wanted) {
          const offset = arena.alloc(bytes, align);
          expect(offset % align).toBe(0);
          expect(offset).toBeGreaterThanOrEqual(last);
          last = offset + bytes;
        }
        expect(arena.usedBytes + arena.freeBytes).toBe(59900);
        expect(arena.usedBytes).toBe(last - 100);
      },
    ),
  );
});

test('a full arena says how much was wanted and how much is left', () => {
  const arena = new Arena(createMemory(1, { shared: false }));
  arena.alloc(65000);
  expect(() => arena.alloc(1000)).toThrow(/1000 bytes wanted, 512 of 65536 left/);
  arena.reset();
  expect(arena.alloc(1000)).toBe(0);
});

test('a memory above 4 GiB and an arena outside its memory are refused', () => {
  expect(() => createMemory(2 ** 32 + 1, { shared: false })).toThrow(RangeError);
  expect(() => new Arena(createMemory(10, { shared: false }), 0, 70000)).toThrow(RangeError);
});

test('views lie one after another at multiples of 64', () => {
  const arena = new Arena(createMemory(65536, { shared: false }));
  const [floats, ids] = [arena.f32(3), arena.i32(5)];
  expect([floats.length, floats.byteOffset, ids.length, ids.byteOffset]).toEqual([3, 0, 5, 64]);
});

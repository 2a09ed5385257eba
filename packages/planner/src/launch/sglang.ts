/**
 * SGLang: the tensor size counts all ranks of a stage, data-parallel attention divides them.
 */
import { stageRanks } from '../layout.js';
import { type Launcher, present } from './launcher.js';

export const sglang: Launcher = {
  summary: 'python -m sglang.launch_server',
  launch(pool, model) {
    const { layout, role } = pool;
    const data = layout.attentionData > 1;
    return {
      command: present([
        'python -m sglang.launch_server',
        `--model-path ${model}`,
        `--tp-size ${stageRanks(layout)}`,
        data && `--dp-size ${layout.attentionData}`,
        data && '--enable-dp-attention',
        layout.expertRanks > 1 && `--ep-size ${layout.expertRanks}`,
        layout.expertRanks > 1 && layout.expertTensor === 1 && '--moe-a2a-backend deepep',
        layout.pipeline > 1 && `--pp-size ${layout.pipeline}`,
        layout.redundantExperts > 0 && `--ep-num-redundant-experts ${layout.redundantExperts}`,
        layout.redundantExperts > 0 && '--enable-eplb',
        pool.twoMicroBatches && '--enable-two-batch-overlap',
        `--max-running-requests ${pool.sequencesPerGroup * layout.attentionData}`,
        `--chunked-prefill-size ${pool.chunkTokens * layout.attentionData}`,
        `--context-length ${pool.mostTokens}`,
        `--mem-fraction-static ${pool.memoryFraction}`,
        pool.cacheFormat === 'fp8' && '--kv-cache-dtype fp8_e4m3',
        role !== 'both' && `--disaggregation-mode ${role}`,
      ]),
      config: [],
      notes: present([
        layout.expertRanks > 1 &&
          layout.expertTensor > 1 &&
          'experts cut and dealt: without an all-to-all backend rows are gathered, not dispatched',
      ]),
    };
  },
};

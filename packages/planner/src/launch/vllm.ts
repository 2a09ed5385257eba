/**
 * vLLM: experts are dealt over all tensor and data ranks together, or cut over the tensor ranks.
 */
import { type Launcher, present } from './launcher.js';

export const vllm: Launcher = {
  summary: 'vllm serve',
  launch(pool, model) {
    const { layout, role } = pool;
    const dealt = layout.expertRanks > 1;
    const eplb = `--eplb-config '{"num_redundant_experts":${layout.redundantExperts}}'`;
    const backend = pool.dispatch === 'per-expert' ? 'deepep_low_latency' : 'deepep_high_throughput';
    const transfer = `--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'`;
    return {
      command: present([
        `vllm serve ${model}`,
        `--tensor-parallel-size ${layout.attentionTensor}`,
        layout.attentionData > 1 && `--data-parallel-size ${layout.attentionData}`,
        layout.pipeline > 1 && `--pipeline-parallel-size ${layout.pipeline}`,
        dealt && '--enable-expert-parallel',
        dealt && `--all2all-backend ${backend}`,
        layout.redundantExperts > 0 && '--enable-eplb',
        layout.redundantExperts > 0 && eplb,
        pool.twoMicroBatches && '--enable-dbo',
        `--max-num-seqs ${pool.sequencesPerGroup}`,
        `--max-num-batched-tokens ${pool.chunkTokens}`,
        `--max-model-len ${pool.mostTokens}`,
        `--gpu-memory-utilization ${pool.memoryFraction}`,
        pool.cacheFormat === 'fp8' && '--kv-cache-dtype fp8',
        role !== 'both' && transfer,
      ]),
      config: [],
      notes: present([
        dealt &&
          layout.expertTensor > 1 &&
          `experts cut ${layout.expertTensor} ways and dealt too: vLLM deals them over all ${layout.expertRanks * layout.expertTensor} ranks`,
      ]),
    };
  },
};

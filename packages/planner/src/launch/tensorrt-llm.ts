/**
 * TensorRT-LLM: one tensor size for a stage; attention is either cut over all of it or repeated on each rank.
 */
import { stageRanks } from '../layout.js';
import { type Launcher, present } from './launcher.js';

export const tensorrtLlm: Launcher = {
  summary: 'trtllm-serve with a configuration file',
  launch(pool, model) {
    const { layout, role } = pool;
    const ranks = stageRanks(layout);
    const data = layout.attentionData > 1;
    const slots = pool.expertCount + layout.redundantExperts;
    return {
      command: present([
        `trtllm-serve ${model}`,
        `--tp_size ${ranks}`,
        `--ep_size ${layout.expertRanks}`,
        layout.pipeline > 1 && `--pp_size ${layout.pipeline}`,
        `--max_batch_size ${pool.sequencesPerGroup}`,
        `--max_num_tokens ${pool.chunkTokens}`,
        `--max_seq_len ${pool.mostTokens}`,
        '--extra_llm_api_options config.yaml',
      ]),
      config: present([
        `enable_attention_dp: ${data}`,
        'kv_cache_config:',
        `  free_gpu_memory_fraction: ${pool.memoryFraction}`,
        pool.cacheFormat === 'fp8' && '  dtype: fp8',
        layout.redundantExperts > 0 && 'moe_config:',
        layout.redundantExperts > 0 && '  load_balancer:',
        layout.redundantExperts > 0 && `    num_slots: ${slots}`,
        role !== 'both' && 'cache_transceiver_config:',
        role !== 'both' && '  backend: DEFAULT',
      ]),
      notes: present([
        data &&
          layout.attentionTensor > 1 &&
          `attention cut ${layout.attentionTensor} ways in ${layout.attentionData} groups: attention data parallelism here is over all ${ranks} ranks`,
        pool.twoMicroBatches && 'micro-batch overlap of the plan is not an argument here',
      ]),
    };
  },
};

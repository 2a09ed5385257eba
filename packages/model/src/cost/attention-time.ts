/**
 * Time of one token mixer on one rank.
 * The one idea: projections run in the format of the weights, attention proper in BF16, one after the other.
 */
import type { AttentionShape, DeviceSpec, Estimate, ModelShape } from '@epsim/spec';
import { type AttentionBatch, coreWork, projectionWork } from './attention-work.js';
import { computeFormatOf } from './dense-parts.js';
import type { DeviceProfile } from './device-profile.js';
import { profileFor } from './profiles.js';
import { rooflineTime } from './roofline.js';

/** Times of the projections and of attention proper for a batch of equal sequences on one rank. */
export function attentionParts(
  model: ModelShape,
  device: DeviceSpec,
  attention: AttentionShape,
  batch: AttentionBatch,
  profile: DeviceProfile = profileFor(device, model.precision.routedExperts),
): Record<'projections' | 'core', Estimate> {
  const tokens = batch.sequences * batch.newTokens;
  const format = computeFormatOf(model.precision.rest);
  return {
    projections: rooflineTime(
      projectionWork(model, attention, tokens),
      device,
      profile,
      profile.dense,
      format,
    ),
    core: rooflineTime(coreWork(attention, batch), device, profile, profile.attention),
  };
}

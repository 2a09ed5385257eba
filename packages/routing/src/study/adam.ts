/**
 * Adam (Kingma and Ba, arXiv 1412.6980) on one flat vector, with its usual constants.
 */

const BETA1 = 0.9;
const BETA2 = 0.999;
const EPSILON = 1e-8;

/** A function that moves `parameters` one step against `gradients`, both [length]. */
export function createAdam(length: number, learningRate: number) {
  const first = new Float64Array(length);
  const second = new Float64Array(length);
  let step = 0;
  return (parameters: Float64Array, gradients: Float64Array): void => {
    step++;
    const firstShare = 1 - BETA1 ** step;
    const secondShare = 1 - BETA2 ** step;
    for (let i = 0; i < length; i++) {
      const g = gradients[i];
      first[i] = BETA1 * first[i] + (1 - BETA1) * g;
      second[i] = BETA2 * second[i] + (1 - BETA2) * g * g;
      parameters[i] -=
        (learningRate * first[i]) / firstShare / (Math.sqrt(second[i] / secondShare) + EPSILON);
    }
  };
}

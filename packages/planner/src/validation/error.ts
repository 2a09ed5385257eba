/** Median error of predicted against published serving throughputs, a fraction; a test holds it to the table. */
export const END_TO_END_ERROR = 0.1;

/** The transpose [columns x rows] of x [rows x columns], row-major. */
export function transposed(x: Float64Array, rows: number, columns: number): Float64Array {
  const out = new Float64Array(x.length);
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) out[c * rows + r] = x[r * columns + c];
  }
  return out;
}

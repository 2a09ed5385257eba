/** A table as Markdown: columns of words stand left, columns of figures right. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  words: readonly number[] = [0],
): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map((_, i) => (words.includes(i) ? '---' : '---:'))), ...rows.map(line)].join(
    '\n',
  );
}

/** The look of pages: one column on a phone, two of charts on a desktop, in the reader's light or dark theme. */
export const pageStyle = `
:root { --bg: #f6f8fa; --card: #ffffff; --text: #1c2733; --muted: #5f6b78; --line: #e1e6eb; --accent: #0072b2; }
@media (prefers-color-scheme: dark) {
  :root { --bg: #0f1419; --card: #151b22; --text: #e4e9ee; --muted: #94a1ae; --line: #29323c; --accent: #56b4e9; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--text);
  font: 15px/1.5 Inter, system-ui, 'Segoe UI', Roboto, sans-serif; }
main { max-width: 1280px; margin: 0 auto; padding: 24px 16px 64px; }
h1 { margin: 0; font-size: 26px; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 0; font-size: 16px; line-height: 1.35; }
header p { margin: 6px 0 20px; color: var(--muted); }
.key { display: grid; grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); gap: 12px; margin: 0 0 16px; }
.key div, figure, .notes, .tables { background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
.key div { padding: 12px 14px; }
dt { color: var(--muted); font-size: 13px; }
dd { margin: 2px 0 0; }
dd b { display: block; font-size: 20px; font-weight: 600; font-variant-numeric: tabular-nums; }
dd span { display: block; color: var(--muted); font-size: 12.5px; line-height: 1.4; }
.notes { padding: 12px 16px; margin-bottom: 16px; border-left: 4px solid var(--accent); }
.notes ul { margin: 6px 0 0; padding-left: 20px; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 540px), 1fr)); gap: 16px; }
figure { margin: 0; padding: 14px 14px 8px; min-width: 0; display: flex; flex-direction: column; }
figcaption p { margin: 2px 0 10px; color: var(--muted); font-size: 13px; }
figure div { position: relative; flex: 1; min-height: 380px; }
figure.heat div { flex: none; min-height: 0; aspect-ratio: 1.1; max-width: 620px; }
canvas { position: absolute; inset: 0; }
.tables { margin-top: 16px; padding: 4px 16px 16px; }
.tables h2 { margin: 18px 0 4px; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 10px 5px 0; border-top: 1px solid var(--line); vertical-align: top; text-align: right; }
th { font-weight: 500; }
th:first-child, .left { text-align: left; }
.left { color: var(--muted); min-width: 16ch; }
td:not(.left) { white-space: nowrap; }
.figures th { width: 260px; }
.figures td:not(.left) { width: 170px; padding-right: 24px; }
code { font: 12.5px ui-monospace, Menlo, Consolas, monospace; }
@media (max-width: 560px) {
  main { padding: 16px 10px 40px; }
  h1 { font-size: 21px; }
  .key { grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); }
  figure div { min-height: 300px; }
  .figures tr { display: grid; grid-template-columns: 1fr auto; border-top: 1px solid var(--line); padding: 5px 0; }
  .figures th, .figures td { border: 0; padding: 0; width: auto; }
  .figures td:not(.left) { width: auto; padding: 0; }
  .figures .left { grid-column: 1 / -1; }
}
`;

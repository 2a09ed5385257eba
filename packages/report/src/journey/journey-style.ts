/** The look of a journey's page: one column, a picture with its words around it, in the reader's light or dark theme. */
export const journeyStyle = `
:root { --bg: #f6f8fa; --card: #fff; --text: #1c2733; --muted: #5f6b78; --line: #dde3e9; --accent: #0072b2; --full: #7a4bb5; --glow: #d55e00; }
@media (prefers-color-scheme: dark) {
  :root { --bg: #0f1419; --card: #151b22; --text: #e4e9ee; --muted: #9aa7b4; --line: #29323c; --accent: #56b4e9; --full: #b99af0; --glow: #ff9a5c; }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--bg); color: var(--text); font: 15px/1.5 Inter, system-ui, 'Segoe UI', Roboto, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 24px 16px 64px; }
h1 { margin: 0; font-size: 26px; line-height: 1.25; }
header p { margin: 6px 0 16px; color: var(--muted); }
#scenes { display: flex; flex-wrap: wrap; gap: 6px; margin: 0 0 14px; padding: 0; list-style: none; }
button { font: inherit; color: var(--text); background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 6px 12px; cursor: pointer; min-height: 36px; }
button:hover { border-color: var(--accent); }
button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
#scenes button { font-size: 13px; padding: 4px 10px; }
#scenes button[aria-current] { background: var(--accent); border-color: var(--accent); color: var(--card); }
.stage { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 18px 20px 16px; }
h2 { margin: 0; font-size: 20px; line-height: 1.3; }
#story { margin: 6px 0 16px; color: var(--muted); max-width: 78ch; }
.picture { width: 100%; }
canvas { display: block; width: 100%; }
#caption { margin: 14px 0 0; min-height: 3em; padding-left: 12px; border-left: 4px solid var(--glow); max-width: 88ch; }
.controls { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; margin: 12px 0 0; }
#play { min-width: 84px; background: var(--accent); border-color: var(--accent); color: var(--card); font-weight: 600; }
#count { color: var(--muted); font-size: 13px; }
.hint { color: var(--muted); font-size: 12.5px; margin-left: auto; }
kbd { font: 11.5px ui-monospace, Menlo, Consolas, monospace; border: 1px solid var(--line); border-radius: 4px; padding: 1px 5px; }
.from, .scale { margin: 14px 0 0; padding: 10px 14px; border: 1px solid var(--line); border-radius: 8px; font-size: 13.5px; background: var(--card); }
.from b, .scale b { display: inline-block; margin-right: 6px; }
.from b { color: var(--accent); }
.from p { margin: 2px 0; }
.from .full b { color: var(--full); }
.scale { border-color: var(--full); border-left-width: 4px; }
.scale b { color: var(--full); }
.scale ul { margin: 4px 0 0; padding-left: 20px; }
@media (max-width: 560px) {
  main { padding: 14px 10px 40px; }
  h1 { font-size: 21px; }
  .stage { padding: 14px 12px; }
  .hint { margin-left: 0; width: 100%; }
  #caption { min-height: 7.5em; }
  #scenes { gap: 4px; }
  #scenes button { min-width: 32px; padding: 4px 2px; text-align: center; }
  #scenes button span { display: none; }
}
@media (prefers-reduced-motion: no-preference) { #scenes button { transition: background .15s; } }
`;

"""The look of the trace page: light and dark, no outside fonts, readable on paper."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root{--bg:#f6f7f9;--card:#fff;--ink:#1c2430;--soft:#667085;--line:#e3e7ee;--lane:#d5dbe5;
--blue:#2563eb;--green:#15803d;--red:#c81e3a;--amber:#b45309;--violet:#7c3aed;--grey:#64748b;--teal:#0f766e}
@media(prefers-color-scheme:dark){:root{--bg:#0f141b;--card:#171e28;--ink:#e6eaf0;--soft:#97a3b6;--line:#263040;
--lane:#334053;--blue:#6ea1ff;--green:#4cc47a;--red:#ff6b81;--amber:#f0a94a;--violet:#b392ff;
--grey:#a2afc2;--teal:#4fc7bb}}
*{box-sizing:border-box}
body{margin:0;padding:32px 24px;background:var(--bg);color:var(--ink);
font:14px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
section{max-width:1320px;margin:0 auto 40px;background:var(--card);border:1px solid var(--line);border-radius:14px;
overflow:hidden}
header{padding:24px 28px 18px}
.kind{margin:0;color:var(--soft);font-size:12px;text-transform:uppercase;letter-spacing:.08em}
h1{margin:2px 0 4px;font-size:22px;line-height:1.25;overflow-wrap:anywhere;font-weight:650}
h2{margin:0 0 8px;font-size:13px;font-weight:600;color:var(--soft)}
.sum{margin:0;color:var(--soft)}
.chips{display:flex;flex-wrap:wrap;gap:6px;list-style:none;margin:14px 0 0;padding:0}
.chip{--c:var(--grey);display:inline-block;padding:1px 10px;border-radius:99px;font-size:12px;white-space:nowrap;
color:var(--c);background:color-mix(in srgb,var(--c) 13%,transparent)}
.completed{--c:var(--green)}.failed,.flag{--c:var(--red)}.cancelled,.cancelling{--c:var(--amber)}
.running,.accepted{--c:var(--blue)}.requested{--c:var(--violet)}.transferred{--c:var(--teal)}
.gantt,.owed{padding:16px 28px;border-top:1px solid var(--line)}
.task{display:grid;grid-template-columns:minmax(240px,34%) 1fr 170px;gap:16px;align-items:center;padding:4px 0}
.task .chip{justify-self:end}
.who{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;color:var(--soft)}.who b{color:var(--ink)}
.track{position:relative;height:12px;border-radius:6px;background:color-mix(in srgb,var(--lane) 45%,transparent)}
.bar{position:absolute;top:0;height:12px;border-radius:6px;background:var(--c,var(--grey));min-width:6px}
.owed ul{margin:0;padding:0;list-style:none;display:grid;gap:4px}
.scroll{overflow-x:auto;border-top:1px solid var(--line)}
.seq{min-width:calc(var(--lanes) + 520px)}
.row{display:grid;grid-template-columns:74px var(--lanes) minmax(380px,1fr);align-items:stretch;min-height:40px;
padding:0 28px;list-style:none}
.row.head{position:sticky;top:0;background:var(--card);border-bottom:1px solid var(--line);font-size:12px;
color:var(--soft);align-items:center;z-index:1}
.row.head .lanes b{position:absolute;top:50%;transform:translateY(-50%);text-align:center;color:var(--ink);
font-size:13px;font-weight:600;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;padding:0 6px}
summary.row{cursor:pointer}summary.row::-webkit-details-marker{display:none}
summary.row:hover,details[open] summary.row{background:color-mix(in srgb,var(--c) 7%,transparent)}
summary.row:focus-visible{outline:2px solid var(--blue);outline-offset:-2px}
.time{align-self:center;color:var(--soft);font-variant-numeric:tabular-nums;font-size:12px}
.lanes{position:relative;display:block;min-height:40px}
.lanes s{position:absolute;top:0;bottom:0;width:1px;background:var(--lane)}
.lanes svg{position:absolute;top:50%;left:0;transform:translateY(-50%);overflow:visible}
.line{stroke:var(--c);stroke-width:2;fill:none}.tip,circle{fill:var(--c)}
.ACK .line,.PROG .line,.DONE .line,.INF .line{stroke-dasharray:5 4}
svg text{font-size:11px;text-anchor:middle;fill:var(--soft);paint-order:stroke;stroke:var(--card);stroke-width:4px;
stroke-linejoin:round}
.what{align-self:center;padding:9px 0 9px calc(18px + var(--d,0)*16px);overflow-wrap:anywhere}
.msg .what{display:grid;grid-template-columns:54px 1fr;align-items:baseline}
.what i{display:inline-block;justify-self:start;min-width:46px;padding:0 6px;border-radius:5px;
font-style:normal;font-weight:600;font-size:11px;line-height:18px;text-align:center;color:var(--c);background:color-mix(in srgb,var(--c) 14%,transparent)}
.row.head .what{padding-left:18px}
.msg{--c:var(--grey);border-bottom:1px solid color-mix(in srgb,var(--line) 60%,transparent)}
.REQ{--c:var(--blue)}.DLGT{--c:var(--violet)}.DONE{--c:var(--green)}.ERR{--c:var(--red)}.CNCL{--c:var(--amber)}
.QRY{--c:var(--teal)}.CAPS{--c:var(--grey)}.PROG,.ACK,.INF{--c:var(--grey)}
em.flag{font-style:normal;margin-left:8px;padding:1px 8px;border-radius:99px;font-size:11px;color:var(--red);
background:color-mix(in srgb,var(--red) 13%,transparent);white-space:nowrap}
.owed em.flag{margin-left:0}
.missing{color:var(--soft);font-style:italic}
pre{margin:0;padding:14px 28px 18px;overflow-x:auto;font:12px/1.5 ui-monospace,Menlo,Consolas,monospace;
background:color-mix(in srgb,var(--lane) 18%,transparent)}
code{font:12px ui-monospace,Menlo,Consolas,monospace}small{color:var(--soft)}
.empty{text-align:center;color:var(--soft)}
@media(max-width:760px){body{padding:0}section{border-radius:0;border-width:0 0 1px}
.task{grid-template-columns:1fr;gap:4px}.task .chip{justify-self:start}header,.gantt,.owed,.row{padding-left:16px;
padding-right:16px}}
@media print{body{padding:0;background:none}section{border:0}.scroll{overflow:visible}}
""".replace("\n", "")

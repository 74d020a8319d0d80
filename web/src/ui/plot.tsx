/** Small plots, drawn as SVG: stacked bars or a line over time, with one axis and words for those who listen. */

import type { VNode } from "preact";

export interface Series {
  name: string;
  tone: string;
  values: number[];
}

const W = 560;
const H = 150;
const LEFT = 40;
const BOTTOM = 20;

/** A round number at or above the largest value. */
export function ceiling(value: number): number {
  if (value <= 4) return 4;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 2, 2.5, 5, 10]) if (step * power >= value) return step * power;
  return value;
}

function Axis({ top, ticks, say }: { top: number; ticks: string[]; say: (value: number) => string }): VNode {
  const width = W - LEFT;
  return (
    <g class="axis">
      {[0, 0.5, 1].map((share) => {
        const y = (H - BOTTOM) * (1 - share) + 8 * share;
        return (
          <g>
            <line x1={LEFT} x2={W} y1={y} y2={y} />
            <text x={LEFT - 6} y={y + 4} text-anchor="end">
              {say(top * share)}
            </text>
          </g>
        );
      })}
      {ticks.map((tick, index) => (
        <text x={LEFT + (width * (index + 0.5)) / ticks.length} y={H - 4} text-anchor="middle">
          {tick}
        </text>
      ))}
    </g>
  );
}

export function Bars(props: { title: string; series: Series[]; ticks: string[]; say?: (value: number) => string }): VNode {
  const say = props.say ?? ((value: number) => String(Math.round(value)));
  const count = props.series[0]?.values.length ?? 0;
  const totals = Array.from({ length: count }, (_, index) => props.series.reduce((sum, one) => sum + (one.values[index] ?? 0), 0));
  const top = ceiling(Math.max(0, ...totals));
  const width = (W - LEFT) / Math.max(1, count);
  const tall = H - BOTTOM - 8;
  return (
    <figure class="plot">
      <figcaption>
        {props.title}
        <span class="legend">
          {props.series.map((one) => (
            <span key={one.name}>
              <i class={one.tone} /> {one.name}
            </span>
          ))}
        </span>
      </figcaption>
      <svg viewBox={`0 0 ${W} ${H}`} role="img" aria-label={`${props.title}: ${props.series.map((one) => `${one.name} ${say(one.values.reduce((a, b) => a + b, 0))}`).join(", ")}`}>
        <Axis top={top} ticks={props.ticks} say={say} />
        {totals.map((_, index) => {
          let y = H - BOTTOM;
          return props.series.map((one) => {
            const height = (tall * (one.values[index] ?? 0)) / top;
            y -= height;
            return height > 0 ? <rect class={one.tone} x={LEFT + index * width + width * 0.14} y={y} width={width * 0.72} height={height} rx={Math.min(2, width / 6)} /> : null;
          });
        })}
      </svg>
    </figure>
  );
}

export function Lines(props: { title: string; series: Series[]; ticks: string[]; say?: (value: number) => string }): VNode {
  const say = props.say ?? ((value: number) => String(Math.round(value)));
  const top = ceiling(Math.max(0, ...props.series.flatMap((one) => one.values.filter(Number.isFinite))));
  const tall = H - BOTTOM - 8;
  const path = (values: number[]) => {
    const step = (W - LEFT) / Math.max(1, values.length);
    let open = false;
    return values
      .map((value, index) => {
        if (!Number.isFinite(value)) {
          open = false;
          return "";
        }
        const point = `${(LEFT + (index + 0.5) * step).toFixed(1)} ${(H - BOTTOM - (tall * value) / top).toFixed(1)}`;
        const part = `${open ? "L" : "M"}${point}`;
        open = true;
        return part;
      })
      .join("");
  };
  return (
    <figure class="plot">
      <figcaption>
        {props.title}
        <span class="legend">
          {props.series.map((one) => (
            <span key={one.name}>
              <i class={one.tone} /> {one.name}
            </span>
          ))}
        </span>
      </figcaption>
      <svg viewBox={`0 0 ${W} ${H}`} role="img" aria-label={`${props.title}: ${props.series.map((one) => `${one.name} up to ${say(Math.max(0, ...one.values.filter(Number.isFinite)))}`).join(", ")}`}>
        <Axis top={top} ticks={props.ticks} say={say} />
        {props.series.map((one) => (
          <g key={one.name}>
            <path class={`stroke ${one.tone}`} d={path(one.values)} />
            {one.values.map((value, index) =>
              Number.isFinite(value) && value > 0 ? (
                <circle class={one.tone} r={2.2} cx={LEFT + ((index + 0.5) * (W - LEFT)) / one.values.length} cy={H - BOTTOM - (tall * value) / top} />
              ) : null,
            )}
          </g>
        ))}
      </svg>
    </figure>
  );
}

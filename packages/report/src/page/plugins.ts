/**
 * What chart.js does not draw by itself: the background of a picture, intervals, the scale of a heat map.
 * One of the modules that also run inside the page.
 */
import type { Plugin } from 'chart.js';
import type { HeatSpec, XySpec } from '../chart-spec.js';
import { formatValue } from './format.js';
import { fontFamily, type Theme } from './theme.js';

/** Fills the canvas, so that a picture is readable on any page. */
export function background(theme: Theme): Plugin {
  return {
    id: 'background',
    beforeDraw({ ctx, width, height }) {
      ctx.save();
      ctx.globalCompositeOperation = 'destination-over';
      ctx.fillStyle = theme.background;
      ctx.fillRect(0, 0, width, height);
      ctx.restore();
    },
  };
}

/** A thin line from `low` to `high` through each mark of the series that have them. */
export function whiskers(spec: XySpec, theme: Theme): Plugin {
  return {
    id: 'whiskers',
    afterDatasetsDraw(chart) {
      const { ctx } = chart;
      const scale = chart.scales[spec.horizontal === true ? 'x' : 'y'];
      ctx.save();
      ctx.strokeStyle = theme.text;
      ctx.lineWidth = 1.25;
      spec.series.forEach(({ low, high }, s) => {
        if (low === undefined || high === undefined || !chart.isDatasetVisible(s)) return;
        chart.getDatasetMeta(s).data.forEach((mark, i) => {
          if (low[i] === null || high[i] === null) return;
          const from = scale.getPixelForValue(low[i]);
          const to = scale.getPixelForValue(high[i]);
          ctx.beginPath();
          ctx.moveTo(...(spec.horizontal === true ? ([from, mark.y] as const) : ([mark.x, from] as const)));
          ctx.lineTo(...(spec.horizontal === true ? ([to, mark.y] as const) : ([mark.x, to] as const)));
          ctx.stroke();
        });
      });
      ctx.restore();
    },
  };
}

/** What the colours of a heat map mean: a strip at the right edge with its ends named. */
export function colourBar(scaleEnd: number, spec: HeatSpec, theme: Theme): Plugin {
  return {
    id: 'colourBar',
    afterDraw({ ctx, chartArea: { right, top, bottom } }) {
      const left = right + 18;
      const gradient = ctx.createLinearGradient(0, bottom, 0, top);
      theme.heat.forEach((colour, i) => {
        gradient.addColorStop(i / (theme.heat.length - 1), colour);
      });
      ctx.save();
      ctx.fillStyle = gradient;
      ctx.fillRect(left, top, 12, bottom - top);
      ctx.fillStyle = theme.muted;
      ctx.font = `12px ${fontFamily}`;
      ctx.textBaseline = 'middle';
      for (const part of [0, 0.5, 1]) {
        ctx.fillText(formatValue(scaleEnd * part, spec.unit), left + 17, bottom + (top - bottom) * part);
      }
      ctx.restore();
    },
  };
}

/** The value of each cell in it, where it has room. */
export function cellValues(scaleEnd: number, spec: HeatSpec, theme: Theme): Plugin {
  return {
    id: 'cellValues',
    afterDatasetsDraw({ ctx, chartArea: { left, top, width, height } }) {
      const cell = { width: width / spec.size, height: height / spec.size };
      if (cell.width < 30 || cell.height < 16) return;
      ctx.save();
      ctx.font = `12px ${fontFamily}`;
      ctx.textAlign = 'center';
      ctx.textBaseline = 'middle';
      spec.values.forEach((value, i) => {
        const text = formatValue(value, spec.unit);
        if (ctx.measureText(text).width > cell.width - 6) return;
        // The dark end of the scale carries the page's light colour, whichever theme it is.
        ctx.fillStyle = value < 0.55 * scaleEnd ? theme.text : theme.background;
        const x = left + cell.width * ((i % spec.size) + 0.5);
        ctx.fillText(text, x, top + cell.height * (Math.floor(i / spec.size) + 0.5));
      });
      ctx.restore();
    },
  };
}

import { isNoisy, type Measurement } from './measured.ts';

const [left, right, rowHeight, barHeight, top] = [230, 110, 34, 16, 40];
const width = 760;
const scale = (width - left - right) / 1.1;

/**
 * Draws each row's ratio to its baseline as a bar, with marks at what is asked and aimed at, and says which rows were
 * noisy. `note` names the run. Readable on light and dark.
 */
export function chartOf(rows: Measurement[], note: string): string {
  const height = top + rows.length * rowHeight + 30;
  const bars = rows.map(({ title, ratio, wanted, aim, noise }, index) => {
    const y = top + index * rowHeight;
    const length = Math.min(ratio.median, 1.1) * scale;
    const mark = (at: number) =>
      `<line x1="${left + at * scale}" x2="${left + at * scale}" y1="${y - 3}" y2="${y + barHeight + 3}" stroke="#888" />`;
    return `
  <text x="${left - 10}" y="${y + 13}" text-anchor="end">${escapeXml(title)}</text>
  <rect x="${left}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" rx="2" fill="${ratio.median >= wanted ? '#2f855a' : '#c05621'}" />
  ${mark(wanted)}${mark(aim)}
  <text x="${left + length + 6}" y="${y + 13}">${ratio.median.toFixed(2)}${noise !== undefined && isNoisy(noise) ? ' (noisy)' : ''}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Each row’s speed by that of the least program">
  <style>text { font: 13px system-ui, sans-serif; fill: #777 }</style>
  <text x="${left}" y="20">speed by that of the least program (1 = as fast); marks: asked, aim</text>${bars.join('')}
  <text x="10" y="${height - 8}">${escapeXml(note)}</text>
</svg>
`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/**
 * Returns black or white, whichever has the higher contrast on a background colour
 * (WCAG 2.2, relative luminance). Computed here, because mail programs do not support
 * CSS `contrast-color()`.
 */
export function readableTextColour(hex: string): '#000000' | '#ffffff' {
  const digits = hex.length === 4 ? hex.slice(1).replace(/./g, '$&$&') : hex.slice(1);
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((offset) =>
    linearise(Number.parseInt(digits.slice(offset, offset + 2), 16) / 255),
  );
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) ? '#000000' : '#ffffff';
}

function linearise(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}

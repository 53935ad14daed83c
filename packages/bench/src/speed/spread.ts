export type Spread = { median: number; min: number; max: number };

/** Returns the median, the smallest and the largest of values. */
export function spread(values: number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  return { median: at(Math.floor(sorted.length / 2)), min: at(0), max: at(sorted.length - 1) };
}

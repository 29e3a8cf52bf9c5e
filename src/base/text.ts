/** The order of texts by their UTF-16 units: the same everywhere, whatever language the machine speaks. */
export function compareText(a: string, b: string): -1 | 0 | 1 {
  return a < b ? -1 : a > b ? 1 : 0;
}

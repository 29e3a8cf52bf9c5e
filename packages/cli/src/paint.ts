/** Terminal colours, few and each with a meaning: red is wrong, yellow needs attention, green is healthy. Pure. */

export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  yellow(text: string): string;
  green(text: string): string;
  cyan(text: string): string;
}

const as =
  (on: number, off: number) =>
  (text: string): string =>
    text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`;
const same = (text: string): string => text;

const coloured: Paint = {
  bold: as(1, 22),
  dim: as(2, 22),
  red: as(31, 39),
  yellow: as(33, 39),
  green: as(32, 39),
  cyan: as(36, 39),
};
/** Without colours. */
export const plain: Paint = { bold: same, dim: same, red: same, yellow: same, green: same, cyan: same };

export function createPaint(hasColours: boolean): Paint {
  return hasColours ? coloured : plain;
}

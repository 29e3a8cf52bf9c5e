/** Field paths as messages show them: `spec.list[0].name`. */
export type PathStep = string | number;

export function formatPath(steps: readonly PathStep[]): string {
  let text = "";
  for (const step of steps) text += typeof step === "number" ? `[${step}]` : text === "" ? step : `.${step}`;
  return text;
}

/** The length of a path's text, without building it. */
export function lengthOf(steps: readonly PathStep[]): number {
  let length = 0;
  for (const step of steps)
    length += typeof step === "number" ? String(step).length + 2 : step.length + (length === 0 ? 0 : 1);
  return length;
}

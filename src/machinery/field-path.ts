/** Paths of fields as messages show them: `spec.list[0].name`. */
export type PathStep = string | number;

export function formatPath(steps: readonly PathStep[]): string {
  let text = "";
  for (const step of steps) text += typeof step === "number" ? `[${step}]` : text === "" ? step : `.${step}`;
  return text;
}

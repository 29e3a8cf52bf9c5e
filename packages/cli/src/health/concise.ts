/** Shortens reasons for printing, so that the cause stands in their first lines: what the line itself says is left out. Pure. */

const REDUNDANT: readonly (readonly [pattern: RegExp, text: string])[] = [
  // The error of a rule: its verb, and the script's own line in front of the same text.
  [/\brunning (?=\w+ of )/g, ""],
  [/(line \d+: (.+?)): <string>:\d+: \2/g, "$1"],
  // FailedCreate and FailedDelete say what was tried; the pod does not exist, or any other would be rejected as well.
  [
    /(?<=Failed(?:Create|Delete): )(?:\(combined from similar events\): )?(?:failed to (?:create|delete) pod(?: \S+)?: )?/g,
    "",
  ],
  [/(?<=FailedCreate: )pods "[^"]*" is forbidden: /g, ""],
];

/** `object` is what the line is about, for example `Deployment shop/web`. */
export function conciseReason(reason: string, object: string): string {
  const [kind = "", name = ""] = object.split(" ");
  return REDUNDANT.reduce(
    (text, [pattern, replacement]) => text.replaceAll(pattern, replacement),
    name === "" ? reason : reason.replaceAll(` on ${kind} ${name}:`, ":"),
  );
}

/** The line of a text that an error is about, as far as the message says so. Pure. */

/** From 1. `near line 3`, or the field that a message of the hub names: `spec.replicas`. */
export function lineOfMessage(message: string, text: string): number {
  const line = /\bline (\d+)/.exec(message)?.[1];
  if (line !== undefined) return Number(line);
  const path = /(?:unknown field "|: |^)((?:spec|metadata|data|status)(?:\.[\w-]+|\[[^\]]+\])+)/.exec(message)?.[1];
  const keys = (path ?? "").split(/[.[\]]+/).filter((key) => key !== "" && !/^\d+$/.test(key));
  const lines = text.split("\n");
  let from = 0;
  let found = 1;
  for (const key of keys) {
    const next = lines.findIndex(
      (each, index) => index >= from && new RegExp(`^[\\s-]*"?${escape(key)}"?\\s*:`).test(each),
    );
    if (next < 0) break;
    found = next + 1;
    from = next + 1;
  }
  return found;
}

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

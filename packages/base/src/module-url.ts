/** The URL of a sibling module, for loading by URL (workers): `.ts` in a checkout, `.js` in the emitted build. */
export function moduleBeside(importMetaUrl: string, name: string): URL {
  return new URL(`${name}${importMetaUrl.endsWith(".ts") ? ".ts" : ".js"}`, importMetaUrl);
}

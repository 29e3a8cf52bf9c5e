/**
 * Where a module beside another one lies, for what loads it by address (workers): `.ts` in a checkout, `.js` in the
 * emitted build.
 */
export function moduleBeside(importMetaUrl: string, name: string): URL {
  return new URL(`${name}${importMetaUrl.endsWith(".ts") ? ".ts" : ".js"}`, importMetaUrl);
}

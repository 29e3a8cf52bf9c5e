/** Reports keys that a mapping has twice. */
import { defineRule } from "../rule.ts";

export const repeatedKey = defineRule({
  id: "repeated-key",
  severity: "warning",
  summary: "a mapping has a key twice",
  why: "kubectl takes the last value and drops the others without a message, so that part of the manifest has no effect.",
  fix: "Merge the values into one, or remove one of them.",
  *check({ manifests }) {
    for (const manifest of manifests)
      for (const { key, line } of manifest.repeatedKeys ?? [])
        yield {
          manifest: { ...manifest, lineOf: () => line },
          message: `the key ${key} is set before in the same mapping; only this value counts`,
        };
  },
});

/** Reports files that are not manifests. */
import { createLintManifest } from "../lint-manifest.ts";
import { defineRule } from "../rule.ts";

export const unreadable = defineRule({
  id: "unreadable",
  severity: "error",
  summary: "the file is not a manifest",
  why:
    "It is not valid YAML or JSON, or a document in it has an `apiVersion` and no `kind`. kubectl would " +
    "reject the whole file. Documents with neither, such as patches and chart values, are skipped.",
  fix: "Fix the line that the message names.",
  *check({ unreadable: files }) {
    for (const { file, line, message } of files) {
      yield { manifest: createLintManifest({}, { file, scripts: new Map(), lineOf: () => line }), message };
    }
  },
});

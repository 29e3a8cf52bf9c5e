/** Files that are no manifests. */
import { createLintManifest } from "../lint-manifest.ts";
import { defineRule } from "../rule.ts";

export const unreadable = defineRule({
  id: "unreadable",
  severity: "error",
  summary: "the file is no manifest",
  why: "It is no YAML or JSON, or a document in it has an `apiVersion` and no `kind`. kubectl would refuse the whole file. Documents with neither, such as patches and values of charts, are passed over.",
  fix: "Correct the line that the message names.",
  *check({ unreadable: files }) {
    for (const { file, line, message } of files) {
      yield { manifest: createLintManifest({}, { file, scripts: new Map(), lineOf: () => line }), message };
    }
  },
});

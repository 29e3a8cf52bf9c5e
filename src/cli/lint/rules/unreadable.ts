/** Files that are no manifests. */
import { createLintManifest } from "../lint-manifest.ts";
import { defineRule } from "../rule.ts";

export const unreadable = defineRule({
  id: "unreadable",
  severity: "error",
  summary: "the file is no manifest",
  why: "It is no YAML or JSON, or a document in it has no `kind`. kubectl would refuse the whole file.",
  fix: "Correct the line that the message names; keep other files, such as values of charts, out of the folder.",
  *check({ unreadable: files }) {
    for (const { file, line, message } of files) {
      yield { manifest: createLintManifest({}, { file, scripts: new Map(), lineOf: () => line }), message };
    }
  },
});

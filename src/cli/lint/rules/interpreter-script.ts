/** Scripts of interpreters that the hub would refuse, or warn of. */
import { checkManifests } from "../../interpret/check.ts";
import type { CheckedManifest } from "../../interpret/check.ts";
import { customizationsOf } from "../customizations.ts";
import { defineRule } from "../rule.ts";
import type { Report, Severity } from "../rule.ts";
import type { LintManifest } from "../lint-manifest.ts";

export const interpreterScript = defineRule({
  id: "interpreter-script",
  severity: "error",
  summary: "a script of an interpreter does not compile, lacks its function, or has a rival",
  why: "The hub refuses a customization whose script does not compile, fails while it is loaded, lacks the function that its operation calls or calls what is taken away, and one whose operation another customization has for the same kind.",
  fix: "Correct the line; `flotilla interpret --show-doc` shows each operation's function with an example, `flotilla interpret --check -f FILE` the same findings with the script.",
  *check(fleet) {
    const customizations = customizationsOf(fleet);
    const checks = checkManifests(customizations);
    for (const [index, checked] of checks.entries()) {
      const manifest = customizations[index]?.origin;
      if (manifest) yield* reportsOf(manifest, checked);
    }
  },
});

function* reportsOf(manifest: LintManifest, { problem, details, warnings }: CheckedManifest): Generator<Report> {
  if (problem !== undefined) yield { manifest, message: problem };
  for (const detail of details) yield reportOf(manifest, detail, "error");
  // Other forms than the canonical are told by `shorthand`, from the hub itself.
  for (const warning of warnings)
    if (!warning.includes("canonical"))
      yield reportOf(manifest, warning, /a hub takes one of them only/.test(warning) ? "error" : "warning");
}

/** `gamefleet.yaml:25:44: message`, with the line of the file behind it. */
function reportOf(manifest: LintManifest, text: string, severity: Severity): Report {
  const [first = ""] = text.split("\n");
  const [, line, message = first] = /^.*?:(\d+)(?::\d+)?: (.*)$/.exec(first) ?? [];
  return { manifest: line === undefined ? manifest : { ...manifest, lineOf: () => Number(line) }, message, severity };
}

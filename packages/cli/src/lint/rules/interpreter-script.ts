/** Finds interpreter scripts that the hub would reject or warn about. */
import { checkManifests, ONLY_ONE_ACCEPTED } from "../../interpret/check-manifests.ts";
import type { CheckedManifest } from "../../interpret/check-manifests.ts";
import { customizationsOf } from "../customizations.ts";
import { defineRule } from "../rule.ts";
import { isAboutRetain } from "./interpreter-retains-release.ts";
import type { Report, Severity } from "../rule.ts";
import type { LintManifest } from "../lint-manifest.ts";

export const interpreterScript = defineRule({
  id: "interpreter-script",
  severity: "error",
  summary: "an interpreter script does not compile, lacks its function, or conflicts with another",
  why:
    "The hub rejects a customization whose script does not compile, fails to load, lacks the function that " +
    "its operation calls or calls a removed function, and one whose operation another customization defines " +
    "for the same kind.",
  fix:
    "Fix the line; `flotilla interpret --show-doc` shows each operation's function with an example, `flotilla " +
    "interpret --check -f FILE` the same findings with the script.",
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
  // Non-canonical forms are reported by `shorthand`, from the hub itself.
  for (const warning of warnings)
    if (!warning.includes("canonical") && !isAboutRetain(warning))
      yield reportOf(manifest, warning, warning.includes(ONLY_ONE_ACCEPTED) ? "error" : "warning");
}

/** `gamefleet.yaml:25:44: message`, followed by the line of the file. */
function reportOf(manifest: LintManifest, text: string, severity: Severity): Report {
  const [first = ""] = text.split("\n");
  const [, line, message = first] = /^.*?:(\d+)(?::\d+)?: (.*)$/.exec(first) ?? [];
  return { manifest: line === undefined ? manifest : { ...manifest, lineOf: () => Number(line) }, message, severity };
}

/** The ResourceInterpreterCustomizations among manifests, in the form that `flotilla interpret` checks. */
import { textAt } from "./fields.ts";
import { CUSTOMIZATION } from "./kind-names.ts";
import type { LintFleet } from "./lint-fleet.ts";
import type { LintManifest } from "./lint-manifest.ts";
import type { Manifest } from "../interpret/customizations.ts";

export interface LintCustomization extends Manifest {
  origin: LintManifest;
}

export function customizationsOf({ of }: Pick<LintFleet, "of">): LintCustomization[] {
  return of(CUSTOMIZATION).map((origin) => ({
    object: origin.object,
    file: origin.file,
    line: origin.lineOf([]),
    scripts: origin.scripts,
    origin,
  }));
}

/** The script of a rule, by field name; empty if it has none, or is not a script. */
export const scriptIn = ({ object }: LintManifest, field: string): string =>
  textAt(object, "spec", "customizations", field, "luaScript");

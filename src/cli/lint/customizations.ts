/** The ResourceInterpreterCustomizations among manifests, in the form in which `flotilla interpret` looks at them. */
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

/** The script of a rule, by the name of its field; empty when it has none, or another form than a script. */
export const scriptIn = ({ object }: LintManifest, field: string): string =>
  textAt(object, "spec", "customizations", field, "luaScript");

/**
 * The form in which rules look at a definition: what all versions have in common stands once, at the top. So does the
 * real server, and its messages name `spec.validation` or `spec.versions[1].schema` accordingly.
 */
import { equalJson, type DeepReadonly } from "../../base/index.ts";
import type { CustomResourceDefinitionSpec, CustomResourceDefinitionVersion } from "../facts/apiextensions-v1.ts";

type Version = DeepReadonly<CustomResourceDefinitionVersion>;
type Shareable = "schema" | "subresources" | "additionalPrinterColumns" | "selectableFields";

export interface SharedForm {
  /** What is equal in every version; unset when it is not, or when no version has it. */
  readonly top: Partial<Pick<Version, Shareable>>;
  /** What is left in each version. */
  readonly versions: readonly Version[];
}

const SHAREABLE: readonly Shareable[] = ["schema", "subresources", "additionalPrinterColumns", "selectableFields"];

export function sharedFormOf({ versions }: DeepReadonly<CustomResourceDefinitionSpec>): SharedForm {
  const [first] = versions;
  if (!first) return { top: {}, versions };
  const top: Record<string, unknown> = {};
  const left = versions.map((version): Record<string, unknown> => ({ ...version }));
  for (const key of SHAREABLE) {
    if (!versions.every((version) => equalJson(version[key] ?? null, first[key] ?? null))) continue;
    if (first[key] !== undefined) top[key] = first[key];
    for (const version of left) delete version[key];
  }
  return { top, versions: left as unknown as Version[] };
}

/**
 * The form in which rules read a CRD: parts that all versions share are listed once, at the top. The real server does
 * the same, and its messages name `spec.validation` or `spec.versions[1].schema` accordingly.
 */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import type {
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from "@flotilla/apimachinery/facts/apiextensions-v1.ts";

type Version = DeepReadonly<CustomResourceDefinitionVersion>;
type Shareable = "schema" | "subresources" | "additionalPrinterColumns" | "selectableFields";

export interface SharedForm {
  /** Parts that are equal in every version; unset when they differ or when no version has them. */
  readonly top: Partial<Pick<Version, Shareable>>;
  /** The remaining parts of each version. */
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

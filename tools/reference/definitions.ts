/** The definitions of the kinds of other projects: their summaries and field notes are text of the pages. */
import type { Kind } from "@flotilla/apimachinery";
import { argoDefinitions } from "@flotilla/argo";
import { karmadaDefinitions } from "@flotilla/karmada";
import type { AnyDefinition } from "@flotilla/kubernetes";
import { kruiseDefinitions } from "@flotilla/openkruise";

/** Kinds whose schema comes from fact tables, which have no descriptions. Others are described where they are declared. */
const definitions: readonly AnyDefinition[] = [...karmadaDefinitions, ...kruiseDefinitions, ...argoDefinitions];

export const definitionOf = (kind: Pick<Kind, "group" | "kind">): AnyDefinition | undefined =>
  definitions.find((definition) => definition.kind.group === kind.group && definition.kind.kind === kind.kind);

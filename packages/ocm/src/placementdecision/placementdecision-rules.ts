/**
 * Shorthand used in guides: a PlacementDecision with a spec that names its Placement. PlacementDecisions have no spec;
 * Placements create their own.
 */
import { isObject } from "@flotilla/base";
import type { AnyAdmission } from "@flotilla/apimachinery";
import { PLACEMENT_LABEL } from "../ocm-names.ts";
import { PlacementDecision } from "./placementdecision-kind.ts";

export const placementDecisionRules: AnyAdmission[] = [
  {
    name: "PlacementDecisionShorthand",
    for: PlacementDecision,
    on: ["CREATE", "UPDATE"],
    canonical(sent, { warn }) {
      const { spec, ...rest } = sent;
      if (!isObject(spec) || !isObject(spec["placementRef"]) || Object.keys(spec).length !== 1) return sent;
      const { name = "" } = spec["placementRef"];
      if (typeof name !== "string") return sent;
      warn(
        `spec.placementRef: was dropped, because a PlacementDecision has no spec; Placement ${name} ` +
          "creates its own decisions, and the canonical form is to read those with the label " +
          `${PLACEMENT_LABEL}=${name}`,
      );
      return rest;
    },
  },
];

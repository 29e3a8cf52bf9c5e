/** ControllerRevision: an earlier version of a template, so that a workload can distinguish its pods and roll back. */
import { ageColumn, builtInKind, column, controllerOf, nameColumn, parseApiVersion } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { ControllerRevision as ControllerRevisionFacts } from "@flotilla/apimachinery/facts/apps-v1.ts";

export type ControllerRevision = ControllerRevisionFacts;

export const ControllerRevision: Kind<ControllerRevision> = builtInKind<ControllerRevision>({
  group: "apps",
  version: "v1",
  kind: "ControllerRevision",
  plural: "controllerrevisions",
  scope: "Namespaced",
  facts: "apps-v1",
  columns: [
    nameColumn,
    column<ControllerRevision>("Controller", (revision) => {
      const owner = controllerOf(revision);
      if (!owner) return "<none>";
      const { group } = parseApiVersion(owner.apiVersion);
      return `${owner.kind.toLowerCase()}${group ? `.${group}` : ""}/${owner.name}`;
    }),
    column<ControllerRevision>("Revision", ({ revision }) => revision ?? 0),
    ageColumn,
  ],
  traits: { untrackedByControllers: "others", metadataChecks: { update: true, create: true } },
});

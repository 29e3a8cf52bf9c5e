/** PodTemplate: a standalone pod template for other objects to use. */
import { builtInKind, column, labelsCell, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { PodTemplate as PodTemplateFacts } from "@flotilla/apimachinery/facts/core-v1.ts";

export type PodTemplate = PodTemplateFacts;

export const PodTemplate: Kind<PodTemplate> = builtInKind<PodTemplate>({
  group: "",
  version: "v1",
  kind: "PodTemplate",
  plural: "podtemplates",
  scope: "Namespaced",
  facts: "core-v1",
  columns: [
    nameColumn,
    column<PodTemplate>("Containers", ({ template }) =>
      (template?.spec?.containers ?? []).map(({ name }) => name).join(","),
    ),
    column<PodTemplate>("Images", ({ template }) =>
      (template?.spec?.containers ?? []).map(({ image = "" }) => image).join(","),
    ),
    column<PodTemplate>("Pod Labels", ({ template }) => labelsCell(template?.metadata?.labels)),
  ],
  hasGeneration: true,
  traits: { deletionReturnsObject: true },
});

import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { blindOverriders, blindRules } from "./blind-overriders.ts";

const object = (kind: string): JsonObject => ({
  kind,
  spec: { template: { spec: { containers: [{ name: "web", image: "web:1" }] } } },
});
const image = { component: "Registry", operator: "replace", value: "eu.example.com" } as const;
const args = (containerName: string) => ({ containerName, operator: "add" as const, value: ["-v"] });

test("an image of a kind that is not searched is reported with its path", () => {
  const rule = { imageOverrider: [image] };

  expect(blindOverriders(object("CloneSet"), rule)).toEqual([
    "its imageOverrider finds no image in a CloneSet; set predicate.path, for example /spec/template/spec/containers/0/image",
  ]);
  expect(blindOverriders(object("Deployment"), rule)).toEqual([]);
  expect(blindOverriders({ kind: "ConfigMap", data: {} }, rule)).toEqual([]);
  expect(
    blindOverriders(object("CloneSet"), {
      imageOverrider: [{ ...image, predicate: { path: "/spec/template/spec/containers/0/image" } }],
    }),
  ).toEqual([]);
});

test("a container that does not exist is reported", () => {
  expect(blindOverriders(object("Deployment"), { argsOverrider: [args("web"), args("wbe")] })).toEqual([
    "it names the container wbe, which does not exist",
  ]);
  expect(blindOverriders(object("CloneSet"), { argsOverrider: [args("web")] })).toEqual([
    "its overriders of commands and arguments find no container in a CloneSet; use plaintext below /spec/template/spec/containers",
  ]);
});

test("an addition to the tag of an image without a tag is reported, unless it is a tag itself", () => {
  const untagged = {
    kind: "Deployment",
    spec: {
      template: {
        spec: {
          containers: [
            { name: "web", image: "web" },
            { name: "mesh", image: "mesh:1" },
          ],
        },
      },
    },
  };
  const adding = (value: string) => ({ imageOverrider: [{ component: "Tag", operator: "add", value } as const] });

  expect(blindOverriders(untagged, adding("-eu"))).toEqual([
    "it adds -eu to the tag of web, which has none and so means latest; write the tag in the image, or replace it",
  ]);
  expect(blindOverriders(untagged, adding("eu"))).toEqual([]);
  expect(blindOverriders(object("Deployment"), adding("-eu"))).toEqual([]);
});

test("the writer of a policy is warned about selectors of such kinds only", () => {
  const spec = (kind: string, apiVersion: string) => ({
    resourceSelectors: [{ apiVersion, kind }],
    overrideRules: [{ overriders: { imageOverrider: [image] } }],
  });

  expect(blindRules({ spec: spec("CloneSet", "apps.kruise.io/v1alpha1") })).toEqual([
    "spec.overrideRules[0].overriders.imageOverrider[0]: has no effect on CloneSet: containers are found only " +
      "in Pod, ReplicaSet, Deployment, DaemonSet, StatefulSet, Job; set predicate.path",
  ]);
  expect(blindRules({ spec: spec("StatefulSet", "apps.kruise.io/v1beta1") })).toEqual([]);
  expect(blindRules({ spec: spec("Deployment", "apps/v1") })).toEqual([]);
});

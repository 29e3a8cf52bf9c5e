import { describe, expect, test } from "vitest";
import { targetOf } from "./proxied-target.ts";
import type { ProxiedTarget } from "./proxied-target.ts";

describe("the target of a request to all clusters", () => {
  const cases: Record<string, { asked: string; want: ProxiedTarget | undefined }> = {
    "a list of the core group": {
      asked: "api/v1/pods",
      want: { group: "", resource: "pods", path: "api/v1/pods", isWatch: false },
    },
    "a list in a namespace": {
      asked: "apis/apps/v1/namespaces/shop/deployments",
      want: {
        group: "apps",
        resource: "deployments",
        path: "apis/apps/v1/namespaces/shop/deployments",
        isWatch: false,
      },
    },
    "an object in a namespace": {
      asked: "api/v1/namespaces/shop/pods/box",
      want: { group: "", resource: "pods", name: "box", path: "api/v1/namespaces/shop/pods/box", isWatch: false },
    },
    "an object, also for its subresources": {
      asked: "api/v1/namespaces/shop/pods/box/log?follow=true",
      want: { group: "", resource: "pods", name: "box", path: "api/v1/namespaces/shop/pods/box", isWatch: false },
    },
    "a namespace": {
      asked: "api/v1/namespaces/shop",
      want: { group: "", resource: "namespaces", name: "shop", path: "api/v1/namespaces/shop", isWatch: false },
    },
    "the status of a namespace": {
      asked: "api/v1/namespaces/shop/status",
      want: { group: "", resource: "namespaces", name: "shop", path: "api/v1/namespaces/shop", isWatch: false },
    },
    "a watch": {
      asked: "api/v1/pods?watch=true",
      want: { group: "", resource: "pods", path: "api/v1/pods", isWatch: true },
    },
    "no watch when watch=false": {
      asked: "api/v1/pods?watch=0",
      want: { group: "", resource: "pods", path: "api/v1/pods", isWatch: false },
    },
    "a watch by the legacy prefix": {
      asked: "api/v1/watch/namespaces/shop/pods",
      want: { group: "", resource: "pods", path: "api/v1/namespaces/shop/pods", isWatch: true },
    },
    "one object that a list selects by name": {
      asked: "api/v1/namespaces/shop/pods?fieldSelector=status.phase%3DRunning,metadata.name%3Dbox&watch=1",
      want: { group: "", resource: "pods", name: "box", path: "api/v1/namespaces/shop/pods/box", isWatch: true },
    },
    "all objects except one": {
      asked: "api/v1/pods?fieldSelector=metadata.name!%3Dbox",
      want: { group: "", resource: "pods", path: "api/v1/pods", isWatch: false },
    },
    "discovery of everything": { asked: "apis", want: undefined },
    "discovery of a version": { asked: "apis/apps/v1", want: undefined },
    "discovery of the core group": { asked: "api/v1", want: undefined },
    "the version of a server": { asked: "version", want: undefined },
    nothing: { asked: "", want: undefined },
    "a path outside the APIs": { asked: "a/b/c/d", want: undefined },
  };
  for (const [what, { asked, want }] of Object.entries(cases)) {
    test(`is ${what}`, () => {
      const [path = "", query] = asked.split("?");

      expect(targetOf(path, new URLSearchParams(query))).toEqual(want);
    });
  }
});

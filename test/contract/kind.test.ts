import { expect, test } from "vitest";
import type { Kind } from "@flotilla/apimachinery";
import * as apiserver from "@flotilla/apiserver";
import * as argo from "@flotilla/argo";
import * as karmada from "@flotilla/karmada";
import * as kubernetes from "@flotilla/kubernetes";
import * as ocm from "@flotilla/ocm";
import * as openkruise from "@flotilla/openkruise";
import { describeKind } from "./kind.ts";
import { kinds, minimalObject } from "./minimal-objects.ts";

for (const kind of kinds) describeKind(kind, minimalObject(kind));

test("every exported kind has a minimal object, so that the suite covers it", () => {
  const exported = [apiserver, kubernetes, openkruise, argo, karmada, ocm]
    .flatMap((kindsOf) => Object.values<unknown>(kindsOf))
    .filter((value): value is Kind => typeof value === "object" && value !== null && "storageVersion" in value);

  expect(exported.filter((kind) => !kinds.includes(kind)).map(({ kind }) => kind)).toEqual([]);
});

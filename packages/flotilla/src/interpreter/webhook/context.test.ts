import { describe, expect, test } from "vitest";
import { readResponse, renderRequest } from "./context.ts";
import { WebhookError } from "@flotilla/client";

const workload = {
  apiVersion: "workload.example.io/v1alpha1",
  kind: "Workload",
  metadata: { name: "web", namespace: "shop" },
  spec: { replicas: 3 },
};
const UID = "8a2f0f4e-5a0e-4c3c-9a44-6a5d3c0a1b2c";

describe("a request", () => {
  const sent = (bytes: Buffer): unknown => JSON.parse(bytes.toString("utf8"));
  const common = {
    uid: UID,
    kind: { group: "workload.example.io", version: "v1alpha1", kind: "Workload" },
    name: "web",
    namespace: "shop",
    object: workload,
  };
  const context = { kind: "ResourceInterpreterContext", apiVersion: "config.karmada.io/v1alpha1" };

  test("names the object and contains it", () => {
    const request = renderRequest(UID, { operation: "InterpretHealth", object: workload });

    expect(sent(request)).toEqual({ ...context, request: { ...common, operation: "InterpretHealth", replicas: 0 } });
  });

  test("a request for ReviseReplica has the number of replicas", () => {
    const request = renderRequest(UID, { operation: "ReviseReplica", object: workload, replicas: 7 });

    expect(sent(request)).toEqual({ ...context, request: { ...common, operation: "ReviseReplica", replicas: 7 } });
  });

  test("a request for Retain has the member's object", () => {
    const observed = { ...workload, spec: { replicas: 3, paused: true } };

    const request = renderRequest(UID, { operation: "Retain", object: workload, observed });

    expect(sent(request)).toEqual({
      ...context,
      request: { ...common, operation: "Retain", replicas: 0, observedObject: observed },
    });
  });

  test("a request for AggregateStatus has every member's status, and omits an empty list", () => {
    const items = [{ clusterName: "paris", status: { readyReplicas: 1 }, applied: true, health: "Healthy" as const }];

    const request = renderRequest(UID, { operation: "AggregateStatus", object: workload, items });
    const empty = renderRequest(UID, { operation: "AggregateStatus", object: workload, items: [] });

    expect(sent(request)).toEqual({
      ...context,
      request: { ...common, operation: "AggregateStatus", replicas: 0, aggregatedStatus: items },
    });
    expect(sent(empty)).toEqual({ ...context, request: { ...common, operation: "AggregateStatus", replicas: 0 } });
  });

  test("a request for a cluster-scoped object has no namespace, and one for the core group has an empty group", () => {
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } };

    const request = renderRequest(UID, { operation: "InterpretHealth", object: node });

    expect(sent(request)).toEqual({
      ...context,
      request: {
        uid: UID,
        kind: { group: "", version: "v1", kind: "Node" },
        name: "n1",
        operation: "InterpretHealth",
        object: node,
        replicas: 0,
      },
    });
  });
});

describe("a response", () => {
  const bytes = (value: unknown): Buffer => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));

  test("is accepted with or without kind and apiVersion", () => {
    const response = { uid: UID, successful: true, replicas: 2 };

    expect(readResponse(bytes({ response }), UID)).toEqual(response);
    expect(
      readResponse(
        bytes({ kind: "ResourceInterpreterContext", apiVersion: "config.karmada.io/v1alpha1", response }),
        UID,
      ),
    ).toEqual(response);
    expect(readResponse(bytes({ kind: "", apiVersion: "", request: null, response }), UID)).toEqual(response);
  });

  const cases: Record<string, [answer: unknown, reason: string, message: RegExp]> = {
    "is empty": ["", "answer", /^the response is empty$/],
    "is not JSON": ["<html>", "answer", /^the response is not JSON/],
    "is a list": [[], "answer", /^the response is not an object$/],
    "is nested too deeply": ["[".repeat(1_000_000), "answer", /^the response is nested more than 1000 levels deep$/],
    "is of another kind": [
      { kind: "Status", response: { uid: UID, successful: true } },
      "answer",
      /^the response is a "Status" of "null", not a ResourceInterpreterContext/,
    ],
    "is of another version": [
      { apiVersion: "config.karmada.io/v2", response: { uid: UID, successful: true } },
      "answer",
      /of "config\.karmada\.io\/v2", not/,
    ],
    "has no response field": [{ request: {} }, "answer", /^the body has no response field$/],
    "has another uid": [
      { response: { uid: "other", successful: true } },
      "answer",
      /response\.uid must be the uid of the request, but it is different$/,
    ],
    "has no uid": [{ response: { successful: true } }, "answer", /response\.uid .* is missing$/],
    "has a uid that is not a string": [
      { response: { uid: [UID], successful: true } },
      "answer",
      /response\.uid .* is different$/,
    ],
    "does not specify successful": [
      { response: { uid: UID, successful: "yes" } },
      "answer",
      /^response\.successful is neither true nor false$/,
    ],
    "is unsuccessful without a reason": [{ response: { uid: UID } }, "answer", /response\.status has no message$/],
    "is unsuccessful": [
      { response: { uid: UID, successful: false, status: { code: 400, message: "no replicas here" } } },
      "refused",
      /^the webhook reported a failure \(code 400\): "no replicas here"$/,
    ],
    "is unsuccessful and has no uid": [
      { response: { uid: "", successful: false, status: { code: 400, message: "cannot read this" } } },
      "refused",
      /"cannot read this"$/,
    ],
    "is unsuccessful with a very long message": [
      { response: { uid: UID, successful: false, status: { message: "x".repeat(1_000_000) } } },
      "refused",
      /^.{500,600}$/,
    ],
  };
  for (const [what, [answer, reason, message]] of Object.entries(cases)) {
    test(`that ${what} fails with a clear error`, () => {
      const read = (): unknown => readResponse(bytes(answer), UID);

      expect(read).toThrow(WebhookError);
      expect(read).toThrow(expect.objectContaining({ reason, message: expect.stringMatching(message) as string }));
    });
  }

  test("a response with brackets in its strings does not count as deeply nested", () => {
    const response = { uid: UID, successful: true, note: `${"[".repeat(5000)}\\"` };

    expect(readResponse(bytes({ response }), UID)).toEqual(response);
  });
});

import { describe, expect, test } from "vitest";
import { conciseReason } from "./concise.ts";

describe("a reason is shortened to what its line does not say already:", () => {
  const cases: Record<string, { reason: string; object: string; want: string }> = {
    "the object on which a rule failed": {
      reason:
        "m1: running Retain of ResourceInterpreterCustomization web on Web shop/web: line 1: no 'kept': <string>:1: no 'kept'",
      object: "Web shop/web",
      want: "m1: Retain of ResourceInterpreterCustomization web: line 1: no 'kept'",
    },
    "the object on which a rule failed, on a member": {
      reason: "running Retain of ResourceInterpreterCustomization web on Web shop/web: line 1: no 'kept'",
      object: "Web shop/web on m1",
      want: "Retain of ResourceInterpreterCustomization web: line 1: no 'kept'",
    },
    "the pod that could not be created": {
      reason: 'm1: FailedCreate: pods "web-84fb-…" is forbidden: exceeded quota: small',
      object: "Deployment shop/web",
      want: "m1: FailedCreate: exceeded quota: small",
    },
    "the pod that could not be deleted": {
      reason: 'm1: FailedDelete: failed to delete pod web-1: admission webhook "a" denied the request',
      object: "CloneSet shop/web",
      want: 'm1: FailedDelete: admission webhook "a" denied the request',
    },
    "another object stays": {
      reason: "running Retain of ResourceInterpreterCustomization web on Web shop/other: line 1: no 'kept'",
      object: "Web shop/web",
      want: "Retain of ResourceInterpreterCustomization web on Web shop/other: line 1: no 'kept'",
    },
  };
  for (const [behaviour, { reason, object, want }] of Object.entries(cases))
    test(behaviour, () => {
      expect(conciseReason(reason, object)).toBe(want);
    });
});

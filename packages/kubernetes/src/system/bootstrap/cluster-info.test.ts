import { expect, test } from "vitest";
import { planSignatures } from "./cluster-info.ts";

const TOKEN = { id: "abcdef", secret: "0123456789abcdef" };

test("every token signs cluster-info in the format that kubeadm verifies", () => {
  // {"alg":"HS256","kid":"abcdef"}, in this order: clients compare the whole text with one that they compute
  // themselves.
  const header = "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9";

  const data = planSignatures({ kubeconfig: "hello", other: "x" }, [TOKEN]);

  expect(data).toEqual({
    kubeconfig: "hello",
    other: "x",
    "jws-kubeconfig-abcdef": expect.stringMatching(new RegExp(`^${header}\\.\\.[A-Za-z0-9_-]{43}$`)) as string,
  });
});

test("nothing is written when all signatures are right", () => {
  const data = planSignatures({ kubeconfig: "hello" }, [TOKEN]) ?? {};

  expect(planSignatures(data, [TOKEN])).toBeUndefined();
});

test("removes signatures of deleted tokens and replaces wrong ones", () => {
  const right = planSignatures({ kubeconfig: "hello" }, [TOKEN]) ?? {};

  expect(planSignatures(right, [])).toEqual({ kubeconfig: "hello" });
  expect(planSignatures({ ...right, "jws-kubeconfig-abcdef": "forged" }, [TOKEN])).toEqual(right);
  expect(planSignatures({ ...right, kubeconfig: "changed" }, [TOKEN])?.["jws-kubeconfig-abcdef"]).not.toBe(
    right["jws-kubeconfig-abcdef"],
  );
});

test("without a kubeconfig there is nothing to sign", () => {
  expect(planSignatures({ other: "x" }, [TOKEN])).toBeUndefined();
});

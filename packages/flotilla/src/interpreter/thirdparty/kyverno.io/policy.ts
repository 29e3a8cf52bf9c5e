/** Kyverno Policy: rules for one namespace, in every served version. */
import { policyInterpreter } from "./kyverno-rules.ts";

export const kyvernoPolicyInterpreter = policyInterpreter("Policy");

/** Kyverno Policy: rules for one namespace, in every served version. */
import { policyInterpreter } from "./rules.ts";

export const kyvernoPolicyInterpreter = policyInterpreter("Policy");

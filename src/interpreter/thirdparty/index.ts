/** The kinds of other projects that Flotilla understands, so that nobody has to write rules for them. */
import type { KindInterpreter } from "../kind-interpreter.ts";
import { cloneSetInterpreter } from "./apps.kruise.io/cloneset.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- the list holds interpreters of different kinds.
export const thirdPartyKinds: readonly KindInterpreter<any>[] = [cloneSetInterpreter];

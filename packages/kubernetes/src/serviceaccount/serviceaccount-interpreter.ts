/**
 * ServiceAccount: secrets that the member generated are kept in its lists; removing them would make the member generate
 * new ones forever.
 */
import { omitEmpty } from "@flotilla/base";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { KindInterpreter } from "../interpreter/kind-interpreter.ts";

interface Named {
  name?: string;
}
interface ServiceAccount extends KubernetesObject {
  secrets?: Named[];
  imagePullSecrets?: Named[];
}

export const serviceAccountInterpreter: KindInterpreter<ServiceAccount> = {
  group: "",
  kind: "ServiceAccount",
  retain(desired, observed) {
    const secrets = union(desired.secrets, observed.secrets);
    const imagePullSecrets = union(desired.imagePullSecrets, observed.imagePullSecrets);
    return {
      ...desired,
      ...omitEmpty({ secrets, imagePullSecrets }),
    };
  },
  prune(account) {
    const { secrets } = account;
    if (!Array.isArray(secrets)) return account;
    const generated = `${account.metadata.name}-token-`;
    return { ...account, secrets: secrets.filter(({ name }: DeepReadonly<Named>) => !name?.startsWith(generated)) };
  },
};

function union(
  desired: readonly DeepReadonly<Named>[] = [],
  observed: readonly DeepReadonly<Named>[] = [],
): DeepReadonly<Named>[] {
  const names = new Set(desired.map(({ name }) => name));
  const added = observed.filter(({ name }) => !names.has(name) && names.add(name));
  return [...desired, ...added];
}

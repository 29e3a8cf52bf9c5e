/** The story that the demo tells: each step acts with kubectl and says what must then be seen. */
import { join } from "node:path";
import { allReady, isRolledOut, podsOf, readyOnHub, summarisePods } from "./look.ts";
import type { PodView } from "./look.ts";

export interface Stage {
  /** The folder with the manifests. */
  examples: string;
  say(text: string): void;
  /** Runs kubectl against a cluster and returns what it printed. */
  kubectl(cluster: string, ...args: string[]): Promise<string>;
  /** The same, shown to the reader. */
  show(cluster: string, ...args: string[]): Promise<void>;
}

export interface Verdict {
  seen: boolean;
  text: string;
}

export interface Step {
  title: string;
  act(stage: Stage): Promise<void>;
  observe(stage: Stage): Promise<Verdict>;
}

const MEMBERS = ["member1", "member2", "member3"];
const NEW_WEB = "registry.example.com/shop/web:1.1";
const NEW_CART = "registry.example.com/shop/cart:1.1";

export function tellStory(): Step[] {
  /** What the CloneSet's pods were before its update: an in-place update keeps every one of them. */
  let before: PodView[] = [];
  return [
    {
      title: "Three members have joined the hub",
      act: async () => {},
      async observe(stage) {
        const clusters = JSON.parse(await stage.kubectl("hub", "get", "clusters", "-o", "json")) as { items: { status?: { conditions?: { type: string; status: string }[] } }[] };
        const ready = clusters.items.filter(({ status }) => status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True")).length;
        if (ready === MEMBERS.length) await stage.show("hub", "get", "clusters");
        return { seen: ready === MEMBERS.length, text: `${ready} of ${MEMBERS.length} members are Ready` };
      },
    },
    {
      title: "One kubectl apply on the hub: a CloneSet of 10, a Deployment of 4, and a policy that divides them 2:1:1",
      act: (stage) => stage.show("hub", "apply", "-f", join(stage.examples, "shop.yaml")),
      async observe(stage) {
        const { spec } = JSON.parse(await stage.kubectl("hub", "get", "resourcebinding", "web-cloneset", "-n", "shop", "--ignore-not-found", "-o", "json").then((text) => text || "{}")) as {
          spec?: { clusters?: { name: string; replicas: number }[] };
        };
        const division = (spec?.clusters ?? []).map(({ replicas }) => replicas).toSorted((a, b) => b - a);
        const placed = (spec?.clusters ?? []).map(({ name, replicas }) => `${name} ${replicas}`).join(", ");
        const seen = division.join("/") === "5/3/2" && spec?.clusters?.find(({ name }) => name === "member1")?.replicas === 5;
        return { seen, text: seen ? `10 replicas are divided ${placed}` : `the CloneSet is not divided yet (${placed || "no clusters"})` };
      },
    },
    {
      title: "Every member runs its share",
      act: async () => {},
      async observe(stage) {
        const pods = await podsOf(stage, MEMBERS, "app=web");
        const seen = pods.length === 10 && allReady(pods);
        if (seen) await stage.show("member1", "get", "pods", "-n", "shop", "-l", "app=web");
        before = pods;
        return { seen, text: `${summarisePods(pods, MEMBERS)} of the CloneSet are Ready on their members` };
      },
    },
    {
      title: "The hub shows the sum",
      act: async () => {},
      async observe(stage) {
        const web = await readyOnHub(stage, "cloneset/web");
        const cart = await readyOnHub(stage, "deployment/cart");
        const seen = web === 10 && cart === 4;
        if (seen) await stage.show("hub", "get", "clonesets,deployments", "-n", "shop");
        return { seen, text: `the hub reports ${web} of 10 CloneSet and ${cart} of 4 Deployment replicas ready` };
      },
    },
    {
      title: "A new image for the CloneSet is rolled out in place: the pods stay, their containers restart",
      act: (stage) =>
        stage.show("hub", "patch", "cloneset", "web", "-n", "shop", "--type=json", `-p=[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"${NEW_WEB}"}]`),
      async observe(stage) {
        const pods = await podsOf(stage, MEMBERS, "app=web");
        const updated = pods.filter(({ image, ready }) => image === NEW_WEB && ready);
        const kept = pods.filter(({ uid }) => before.some((pod) => pod.uid === uid));
        const restarted = pods.filter(({ restarts }) => restarts === 1);
        const seen = updated.length === 10 && kept.length === 10 && restarted.length === 10 && (await isRolledOut(stage, "cloneset/web", 10));
        if (seen) await stage.show("member1", "get", "pods", "-n", "shop", "-l", "app=web");
        return { seen, text: `${updated.length} of 10 pods run ${NEW_WEB}, ${kept.length} of them are the pods from before` };
      },
    },
    {
      title: "A new image for the Deployment is rolled out pod by pod",
      act: (stage) => stage.show("hub", "set", "image", "deployment/cart", `cart=${NEW_CART}`, "-n", "shop"),
      async observe(stage) {
        const pods = await podsOf(stage, MEMBERS, "app=cart");
        const updated = pods.filter(({ image, ready }) => image === NEW_CART && ready);
        const seen = pods.length === 4 && updated.length === 4 && (await isRolledOut(stage, "deployment/cart", 4));
        if (seen) await stage.show("hub", "get", "deployments", "-n", "shop");
        return { seen, text: `${updated.length} of 4 pods run ${NEW_CART}` };
      },
    },
  ];
}

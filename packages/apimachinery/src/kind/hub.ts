/** The logical cluster of the hub. It answers at `/` as well as at `/clusters/hub`. */
export const HUB = "hub";

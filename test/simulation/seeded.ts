export { type Seeded, seeded } from "../../testing/seeded.ts";

import { App } from "aws-cdk-lib";
import { ShopStack } from "../lib/shop-stack";

const app = new App();
new ShopStack(app, "Shop", { namespace: "shop" });
new ShopStack(app, "OtherShop", { namespace: "other-shop" });

module example.com/consumer

require github.com/Shopify/sarama v1.19.0

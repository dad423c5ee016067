module example.com/consumer

go 1.16

require github.com/Shopify/sarama v1.24.1

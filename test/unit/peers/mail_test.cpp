// Mails between replicas: their bytes, and how they wait.
#include "peers/redis/mail.hpp"

#include "peers/redis/mailbag.hpp"

#include <gtest/gtest.h>

#include <string>

namespace switchgear::peers::redis {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

const std::string name = "\0replica"s;

TEST(mail, is_read_as_it_was_written) {
  const std::string text = "any\r\n\0bytes\xff"s;
  for (const auto subject : {mail::subject::told, mail::subject::ended, mail::subject::noted}) {
    const std::string bytes = written({subject, name, text});
    const auto read = read_mail(bytes);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->subject, subject);
    EXPECT_EQ(read->from, name);
    EXPECT_EQ(read->text, text);
  }
}

TEST(mail, may_have_no_text) {
  const std::string bytes = written({mail::subject::told, name, {}});
  ASSERT_TRUE(read_mail(bytes));
  EXPECT_EQ(read_mail(bytes)->text, "");
}

TEST(mail, is_not_what_is_cut_before_its_text) {
  const std::string whole = written({mail::subject::told, name, {}});
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(read_mail(whole.substr(0, size))) << size;
}

TEST(mail, is_not_what_has_another_mark_or_subject) {
  std::string bytes = written({mail::subject::told, name, "text"});
  bytes[3] = '2';
  EXPECT_FALSE(read_mail(bytes));
  bytes[3] = '1';
  ASSERT_TRUE(read_mail(bytes));
  bytes[4] = '\0';
  EXPECT_FALSE(read_mail(bytes));
}

TEST(mail, is_not_longer_than_it_may_be) {
  EXPECT_TRUE(read_mail(written({mail::subject::told, name, std::string(mail::longest, 'x')})));
  EXPECT_FALSE(read_mail(written({mail::subject::told, name, std::string(mail::longest + 1, 'x')})));
}

constexpr time_point start{};

TEST(mailbag, gives_mails_in_the_order_they_came) {
  mailbag bag;
  for (const char* each : {"a", "b", "c"}) bag.put(each, start);
  EXPECT_EQ(bag.take(start), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(bag.empty());
  EXPECT_EQ(bag.bytes(), 0u);
}

TEST(mailbag, gives_no_more_than_a_load_at_once) {
  mailbag bag;
  for (int i = 0; i < 3; ++i) bag.put(std::string(mailbag::load / 2, 'x'), start);
  EXPECT_EQ(bag.take(start).size(), 2u);
  EXPECT_EQ(bag.take(start).size(), 1u);
}

TEST(mailbag, gives_a_mail_that_is_more_than_a_load_alone) {
  mailbag bag;
  bag.put("first", start);
  bag.put(std::string(mailbag::load + 1, 'x'), start);
  bag.put("last", start);
  EXPECT_EQ(bag.take(start), std::vector<std::string>{"first"});
  EXPECT_EQ(bag.take(start).size(), 1u);
  EXPECT_EQ(bag.take(start), std::vector<std::string>{"last"});
}

TEST(mailbag, drops_the_oldest_when_there_are_too_many_bytes) {
  mailbag bag;
  bag.put("oldest", start);
  for (std::size_t i = 0; i < mailbag::most_bytes / mailbag::load; ++i) bag.put(std::string(mailbag::load, 'x'), start);
  EXPECT_EQ(bag.dropped(), 1u);
  EXPECT_EQ(bag.bytes(), mailbag::most_bytes);
  EXPECT_NE(bag.take(start).at(0), "oldest");
}

TEST(mailbag, drops_the_oldest_when_there_are_too_many_mails) {
  mailbag bag;
  for (std::size_t i = 0; i < mailbag::most_mails + 2; ++i) bag.put(std::to_string(i), start);
  EXPECT_EQ(bag.dropped(), 2u);
  EXPECT_EQ(bag.take(start).at(0), "2");
}

TEST(mailbag, drops_what_nobody_waits_for_any_more) {
  mailbag bag;
  bag.put("old", start);
  bag.put("young", start + 1ms);
  EXPECT_EQ(bag.take(start + mailbag::lifetime + 1ms), std::vector<std::string>{"young"});
  EXPECT_EQ(bag.dropped(), 1u);
}

}  // namespace
}  // namespace switchgear::peers::redis
